// What a reader of an example's README comes to see: declared for links and for an installation from a registry.
import { describeOnEmptyDatabase } from './empty-database.js';
import type { Example, Walk } from './example-walk.js';
import { commandsOf, EXAMPLES, walkThrough } from './example-walk.js';
import type { Installation } from './packed-package.js';

const MAX_COMMANDS = 10;
/** An installation from a registry may take its time. */
const WALK_MS = 300_000;
const SEEN: Record<Example, readonly RegExp[]> = {
  'own-product': [
    /"access_token":"eyJ/,
    /\{"subject":\{"id":1,"email":"ada@partner.example","role":"member"\}\}/,
    /user 1 is new, and came from https:\/\/partner.example/,
    /Welcome, ada@partner.example: you are user 1/,
    /"subject":\{"id":1,[^}]*\},"actor":\{"id":2,"email":"bob@partner.example"/,
  ],
  'with-defaults': [
    /"access_token":"eyJ/,
    /\{"subject":\{"id":"[\da-f-]{36}","email":"ada@partner.example","role":"member"\}\}/,
    /Welcome, ada@partner.example: you are user [\da-f-]{36}/,
    /"actor":\{"id":"[\da-f-]{36}","email":"bob@partner.example"/,
  ],
};

/** @param more checks the folder in which the example lies then */
export function declareWalks(
  installed: () => Installation,
  parent: () => string,
  environment: () => Record<string, string> | undefined,
  more: (walk: Walk) => void = () => undefined,
): void {
  for (const example of EXAMPLES) {
    describeOnEmptyDatabase(`the README of ${example}`, (database) => {
      it('leads to the first exchange within ten commands', () => {
        expect(commandsOf(example).length).toBeLessThanOrEqual(MAX_COMMANDS);
        expect(commandsOf(example).filter((command) => / && |; /.test(command))).toEqual([]);
      });

      it(
        'leads to the described result',
        async () => {
          const walk = await walkThrough(example, installed(), database(), parent(), environment());
          for (const sight of SEEN[example]) expect(walk.output).toMatch(sight);
          expect(walk.exitCode).toBe(0);
          more(walk);
        },
        WALK_MS,
      );
    });
  }
}
