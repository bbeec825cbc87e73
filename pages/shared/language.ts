// The language of a page, and its words from one table for each language.
import { signal } from '@preact/signals';

const LANGUAGES = ['en', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The page's language. Views that read it are drawn again when it changes. */
export const language = signal<Language>('en');

/** @param asked the host page's languages @param spoken the visitor's @returns English if neither is known */
export function languageOf(asked: string | undefined, spoken: readonly string[]): Language {
  const tags = (asked ? [asked] : spoken).map((tag) => tag.slice(0, 2).toLowerCase());
  return tags.map((tag) => LANGUAGES.find((known) => known === tag)).find(Boolean) ?? 'en';
}

/** Isolates a name, so that its direction does not change the sentence (Unicode TR9, isolates). */
export function isolated(name: string): string {
  return `\u2068${name}\u2069`;
}
