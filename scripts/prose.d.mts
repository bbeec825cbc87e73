export function problemsOf(path: string, text: string): string[];
