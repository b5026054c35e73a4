// A block of code with its language and a copy button. It is coloured once the grammar came, from
// this origin; until then, and for other languages, it is plain.
import { useEffect, useState } from "react";
import { CopyButton } from "../../../ui/CopyButton";
import { texts } from "../../../ui/texts";
import { colour, type Ink, knows } from "./highlight";

export function CodeBlock({ code, language }: { code: string; language: string }) {
  const inked = useInk(code, language);
  return (
    <div className="group/code overflow-hidden rounded-base border border-line bg-sunken">
      <div className="flex h-6 items-center pl-2.5 text-muted text-xs">
        <span className="mr-auto font-mono">{language || texts.thread.code}</span>
        <CopyButton text={code} />
      </div>
      <section
        tabIndex={0}
        aria-label={language || texts.thread.code}
        className="overflow-x-auto px-2.5 pb-2"
      >
        <pre className="text-xs leading-[1.5]">
          <code>
            {inked?.code === code
              ? inked.ink.map((piece) =>
                  piece.colour ? (
                    <span key={piece.at} style={{ color: piece.colour }}>
                      {piece.text}
                    </span>
                  ) : (
                    piece.text
                  ),
                )
              : code}
          </code>
        </pre>
      </section>
    </div>
  );
}

function useInk(code: string, language: string): { code: string; ink: Ink[] } | null {
  const [inked, setInked] = useState<{ code: string; ink: Ink[] } | null>(null);
  useEffect(() => {
    if (!knows(language) || code.length > 60_000) return;
    let current = true;
    const timer = setTimeout(() => {
      void colour(code, language).then((ink) => {
        if (current && ink) setInked({ code, ink });
      });
    }, 60);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [code, language]);
  return inked;
}
