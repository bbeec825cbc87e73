// The backend of a partner in each language.
import { csharp, goProgram, java } from './compiled-programs.js';
import type { PartnerFacts } from './partner-facts.js';
import { node, php, python, ruby } from './scripting-programs.js';

/** A program, and the algorithms for which its library signs. */
interface Program {
  readonly id: string;
  readonly title: string;
  readonly file: string;
  readonly language: string;
  readonly signs: RegExp;
  readonly write: (facts: PartnerFacts) => string;
}

const EVERY = /./;
const EC_AND_RSA = /^(ES|RS|PS)/;

export const PROGRAMS: readonly Program[] = [
  { id: 'node', title: 'Node.js', file: 'automation.mjs', language: 'js', signs: EVERY, write: node },
  { id: 'python', title: 'Python', file: 'automation.py', language: 'python', signs: EVERY, write: python },
  { id: 'go', title: 'Go', file: 'automation.go', language: 'go', signs: EVERY, write: goProgram },
  { id: 'java', title: 'Java', file: 'Automation.java', language: 'java', signs: EC_AND_RSA, write: java },
  {
    id: 'php',
    title: 'PHP',
    file: 'automation.php',
    language: 'php',
    signs: /^(ES256|ES384|RS)/,
    write: php,
  },
  { id: 'csharp', title: 'C#', file: 'Automation.cs', language: 'csharp', signs: EC_AND_RSA, write: csharp },
  { id: 'ruby', title: 'Ruby', file: 'automation.rb', language: 'ruby', signs: EC_AND_RSA, write: ruby },
];
