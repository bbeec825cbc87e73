// How a secret is asked for at a terminal.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { TerminalPrompt } from '../../../src/cli/terminal.js';

describe('the prompt of a terminal', () => {
  const open = (echo: 'shown' | 'hidden') => {
    const stdin = new PassThrough();
    const stderr = new PassThrough();
    const streams = { stdin, stderr } as unknown as Pick<NodeJS.Process, 'stdin' | 'stderr'>;
    return { stdin, stderr, prompt: new TerminalPrompt(streams, echo) };
  };

  it('takes what is typed, with corrections, and shows nothing of a secret', async () => {
    const { stdin, stderr, prompt } = open('hidden');
    const first = prompt.ask('New password: ');
    stdin.write('correct horsf\u007fe battery\r');
    expect(await first).toBe('correct horse battery');
    const second = prompt.ask('The same again: ');
    stdin.write('something else\r');
    expect(await second).toBe('something else');
    stderr.end();
    expect(await text(stderr)).toBe('New password: \nThe same again: \n');
  });

  it('shows what is typed otherwise', async () => {
    const { stdin, stderr, prompt } = open('shown');
    const answer = prompt.ask('TCP port: ');
    stdin.write('4000\r');
    expect(await answer).toBe('4000');
    stderr.end();
    expect(await text(stderr)).toMatch(/TCP port: .*4.*0.*0.*0/s);
  });

  it.each(['shown', 'hidden'] as const)(
    'says that there was no answer where input ends: %s',
    async (echo) => {
      const { stdin, prompt } = open(echo);
      const answer = prompt.ask('TCP port: ');
      stdin.end();
      await expect(answer).rejects.toThrow('There was no answer.');
    },
  );
});
