// Without a key the page can do nothing but say where the key comes from.
import { Snippet } from "../../ui/Snippet";
import { texts } from "../../ui/texts";

export function Locked() {
  return (
    <main className="page-pad flex h-dvh flex-col justify-center">
      <div className="mx-auto w-full max-w-[28rem] pb-16">
        <h1 className="font-medium text-lg">{texts.locked.title}</h1>
        <p className="mt-1 text-muted">{texts.locked.body}</p>
        <Snippet text={texts.locked.command} className="mt-4" />
      </div>
    </main>
  );
}
