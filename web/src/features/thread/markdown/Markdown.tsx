// The agent's Markdown, drawn while it streams. Nothing in it may make this page ask another host:
// images become links, and links open elsewhere, without a referrer, by a person's click alone.
import { isValidElement, type ReactNode } from "react";
import { type Components, defaultRehypePlugins, Streamdown } from "streamdown";
import { texts } from "../../../ui/texts";
import { CodeBlock } from "./CodeBlock";

interface Props {
  /** Streamdown hands each component the node of the syntax tree; unused here. */
  node?: unknown;
  children?: ReactNode;
}

const SAFE = /^(https?:|mailto:)/i;

function Link({ href, children }: Props & { href?: string | undefined }) {
  if (!href || !SAFE.test(href)) return <span>{children}</span>;
  return (
    <a href={href} target="_blank" rel="noreferrer noopener" title={href}>
      {children}
    </a>
  );
}

function Picture({ src, alt }: Props & { src?: unknown; alt?: string | undefined }) {
  const address = typeof src === "string" ? src : "";
  return <Link href={address}>{texts.thread.imageLink(alt || address)}</Link>;
}

function Table({ children }: Props) {
  return (
    <div className="table-scroll">
      <table>{children}</table>
    </div>
  );
}

/** A fence is a `pre` around one `code`, whose class names the language. */
function Fence({ children }: Props) {
  if (!isValidElement<Props & { className?: string }>(children)) return <pre>{children}</pre>;
  const { className, children: code } = children.props;
  const language = /language-(\S+)/.exec(className ?? "")?.[1] ?? "";
  return <CodeBlock code={String(code ?? "").replace(/\n$/, "")} language={language} />;
}

function plain<T extends keyof React.JSX.IntrinsicElements>(Tag: T) {
  return function Plain({ children }: Props) {
    const Element: React.ElementType = Tag;
    return <Element>{children}</Element>;
  };
}

const components: Components = {
  a: Link,
  img: Picture,
  table: Table,
  pre: Fence,
  inlineCode: ({ children }: Props) => <code>{children}</code>,
  h1: plain("h1"),
  h2: plain("h2"),
  h3: plain("h3"),
  h4: plain("h4"),
  h5: plain("h5"),
  h6: plain("h6"),
  ul: plain("ul"),
  ol: ({ children, start }: Props & { start?: number | undefined }) => (
    <ol start={start}>{children}</ol>
  ),
  li: plain("li"),
  hr: () => <hr />,
  strong: plain("strong"),
  blockquote: plain("blockquote"),
  thead: plain("thead"),
  tbody: plain("tbody"),
  tr: plain("tr"),
  th: plain("th"),
  td: plain("td"),
};

/** No raw HTML: what looks like a tag in the agent's text is text. */
const rehype = [defaultRehypePlugins.sanitize, defaultRehypePlugins.harden].filter(
  (plugin) => plugin !== undefined,
);

export default function Markdown({ text, done }: { text: string; done: boolean }) {
  return (
    <Streamdown
      className="prose"
      mode={done ? "static" : "streaming"}
      parseIncompleteMarkdown={!done}
      components={components}
      rehypePlugins={rehype}
      controls={false}
      linkSafety={{ enabled: false }}
      lineNumbers={false}
    >
      {text}
    </Streamdown>
  );
}
