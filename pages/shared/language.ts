// The language of a page, and its words from one table for each language.
import { signal } from '@preact/signals';

const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The page's language. Whatever reads it is drawn anew when it changes. */
export const language = signal<Language>('en');

/** @param asked by the host page. @param spoken by the visitor. @returns English if neither is known */
export function languageOf(asked: string | undefined, spoken: readonly string[]): Language {
  const tags = (asked ? [asked] : spoken).map((tag) => tag.slice(0, 2).toLowerCase());
  return tags.map((tag) => LANGUAGES.find((known) => known === tag)).find(Boolean) ?? 'en';
}

/** Keeps a name that runs from right to left from turning its sentence round (Unicode TR9, isolates). */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}
