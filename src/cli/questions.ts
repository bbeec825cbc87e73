// Questions of a command, each answered by an option, by a person, or by its default.
import type { Terminal } from './command-context.js';

/** A question whose answer is a string. */
export interface Question<Answers extends object, Settings = undefined> {
  readonly name: keyof Answers & string;
  /** The option, as it is written in help. */
  readonly flag: string;
  readonly about: string;
  /** Returns the default; undefined if there is none. */
  readonly standard: (known: Partial<Answers>, settings: Settings) => string | undefined;
  /** Returns the rule that an answer breaks. */
  readonly check: (text: string) => string | undefined;
}

interface AnswerSources<Answers, Settings> {
  /** Answers from options. */
  readonly given: Partial<Answers>;
  /** The values that defaults depend on. */
  readonly settings: Settings;
  /** Asks the questions that options do not answer. If it is undefined, defaults decide. */
  readonly terminal: Terminal | undefined;
  /** Throws for an answer that is missing or breaks its rule, with a message about its option. */
  readonly refuse: (message: string) => never;
}

/** Returns all answers in the order of the questions: a default may depend on an earlier answer. */
export async function answersTo<Answers extends { readonly [Name in keyof Answers]: string }, Settings>(
  questions: readonly Question<Answers, Settings>[],
  { given, settings, terminal, refuse }: AnswerSources<Answers, Settings>,
): Promise<Answers> {
  const known: Partial<Record<keyof Answers, string>> = {};
  for (const question of questions) {
    const { name } = question;
    const option = given[name];
    const standard = option ?? question.standard(known as Partial<Answers>, settings);
    const isAsked = option === undefined && terminal !== undefined;
    known[name] = isAsked ? await asked(question, standard, terminal) : taken(question, standard, refuse);
  }
  // The loop fills every property, which TypeScript cannot follow.
  return known as Answers;
}

type Checked = Pick<Question<object, never>, 'flag' | 'about' | 'check'>;

function taken(
  { flag, about, check }: Checked,
  text: string | undefined,
  refuse: (message: string) => never,
): string {
  if (text === undefined) return refuse(`${flag} is needed: ${about}`);
  const rule = check(text);
  return rule === undefined ? text : refuse(`${flag} ${rule}`);
}

/** Repeats a question until its answer is valid. */
async function asked(
  { about, check }: Checked,
  standard: string | undefined,
  terminal: Terminal,
): Promise<string> {
  const hint = standard ? ` [${standard}]` : '';
  for (let complaint = ''; ;) {
    const line = (
      await terminal.ask(`${complaint}${about[0]?.toUpperCase()}${about.slice(1)}${hint}: `)
    ).trim();
    const text = line === '' ? (standard ?? '') : line;
    const rule = check(text);
    if (rule === undefined) return text;
    complaint = `It ${rule}.\n`;
  }
}

/** Splits a list at its commas. */
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
