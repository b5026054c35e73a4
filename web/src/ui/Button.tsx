// Buttons: a verb each. Quiet by default; the accent is for the one primary action of a place.
import type { ButtonHTMLAttributes } from "react";

type Look = "quiet" | "line" | "primary" | "danger";

const LOOKS: Record<Look, string> = {
  quiet: "text-muted hover:text-text hover:bg-hover",
  line: "border border-line hover:bg-hover",
  primary: "bg-accent text-accent-text font-medium hover:opacity-90",
  danger: "border border-danger text-danger font-medium hover:bg-danger-tint",
};

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: Look;
  small?: boolean;
}

export function Button({ look = "quiet", small = false, className = "", ...rest }: ButtonProps) {
  const size = small ? "h-6 px-1.5 text-xs" : "h-8 px-3 text-sm max-wide:min-h-11";
  return (
    <button
      type="button"
      {...rest}
      className={`inline-flex shrink-0 items-center justify-center gap-1.5 rounded-base whitespace-nowrap transition-colors duration-150 disabled:opacity-45 ${size} ${LOOKS[look]} ${className}`}
    />
  );
}
