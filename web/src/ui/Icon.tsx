// The few signs of the page, drawn on a 16 px grid. Always hidden from screen readers: a word
// stands beside each, or in the label of its button.

const PATHS = {
  plus: "M8 3v10M3 8h10",
  chevron: "M6 4l4 4-4 4",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M6 6h7v7H6zM3 10V3h7",
  check: "M3 8.5l3.5 3.5L13 4.5",
  down: "M8 3v10M4 9l4 4 4-4",
  back: "M10 3L5 8l5 5",
  more: "M3 8h.01M8 8h.01M13 8h.01",
  panel: "M2.5 3h11v10h-11zM6 3v10",
  image: "M2.5 3h11v10h-11zM3 12l3.5-4 2.5 2.5L11 8l2.5 3M10.5 5.5h.01",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zM10.5 10.5L14 14",
} as const;

export function Icon({ name, className = "" }: { name: keyof typeof PATHS; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={`size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
