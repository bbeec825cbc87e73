// Saves text as a file in the browser. The instance stores nothing.

const TYPES = { jsonl: 'application/jsonl', csv: 'text/csv', other: 'text/plain' };

export function saveFile(name: string, text: string, type: keyof typeof TYPES = 'other'): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob([text], { type: TYPES[type] }));
  link.download = type === 'other' ? name : `${name}.${type}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
