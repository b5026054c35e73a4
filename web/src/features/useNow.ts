// The time, for words such as "2 m": new every half minute, or as often as asked.
import { useEffect, useState } from "react";
import { useApp } from "./context";

export function useNow(every = 30_000, on = true): number {
  const app = useApp();
  const [now, setNow] = useState(() => app.now());
  useEffect(() => {
    if (!on) return;
    setNow(app.now());
    const timer = setInterval(() => setNow(app.now()), every);
    return () => clearInterval(timer);
  }, [app, every, on]);
  return now;
}
