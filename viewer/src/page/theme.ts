// Light or dark: as the browser says until somebody chooses.
import { useEffect, useState } from "preact/hooks";

function keptTheme(): string {
  try {
    return localStorage.getItem("theme") ?? "auto";
  } catch {
    return "auto";
  }
}

export function useTheme() {
  const [theme, setTheme] = useState(keptTheme);
  useEffect(() => {
    document.documentElement.dataset.theme = theme;
    try {
      localStorage.setItem("theme", theme);
    } catch {
      /* not kept */
    }
  }, [theme]);
  const isDark =
    theme === "dark" || (theme === "auto" && matchMedia("(prefers-color-scheme: dark)").matches);
  return { theme, turnTheme: () => setTheme(isDark ? "light" : "dark") };
}
