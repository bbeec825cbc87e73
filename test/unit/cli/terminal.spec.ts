// Prompts at a terminal, also for secrets, and the progress message.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { Answers } from '../../../src/cli/command-context.js';
import { TerminalPrompt, withProgress } from '../../../src/cli/terminal.js';

describe('the prompt of a terminal', () => {
  const open = (echo: 'shown' | 'hidden') => {
    const stdin = new PassThrough();
    const stderr = new PassThrough();
    const streams = { stdin, stderr } as unknown as Pick<NodeJS.Process, 'stdin' | 'stderr'>;
    return { stdin, stderr, prompt: new TerminalPrompt(streams, echo) };
  };

  it('accepts typed input with corrections, and never shows a secret', async () => {
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

  it('shows typed input that is not secret', async () => {
    const { stdin, stderr, prompt } = open('shown');
    const answer = prompt.ask('TCP port: ');
    stdin.write('4000\r');
    expect(await answer).toBe('4000');
    stderr.end();
    expect(await text(stderr)).toMatch(/TCP port: .*4.*0.*0.*0/s);
  });

  it.each(['shown', 'hidden'] as const)('reports a missing answer if the input ends: %s', async (echo) => {
    const { stdin, prompt } = open(echo);
    const answer = prompt.ask('TCP port: ');
    stdin.end();
    await expect(answer).rejects.toThrow('There was no answer.');
  });
});

/** A command's output, and work that ends with the first progress message or after a while. */
function watched(isTerminal: boolean, isJson: boolean) {
  const said: string[] = [];
  let tell = () => undefined as unknown;
  const told = new Promise((resolve) => (tell = () => resolve(undefined)));
  const write = (text: string) => {
    said.push(text);
    tell();
  };
  const output = { write, isTerminal };
  const context = { stderr: output, answers: new Answers({ stdout: output, stderr: output }, isJson) };
  return { context, said, told };
}

describe('progress', () => {
  it('is shown at a terminal, and cleared when the work is done', async () => {
    const { context, said, told } = watched(true, false);
    expect(
      await withProgress(
        context,
        'Working',
        told.then(() => 'done'),
      ),
    ).toBe('done');
    expect(said).toEqual([expect.stringContaining('\r\u001b[KWorking, '), '\r\u001b[K']);
  });

  it.each([
    ['in a file', false, false],
    ['to a program', true, true],
  ])('is not shown %s', async (_, isTerminal, isJson) => {
    const { context, said } = watched(isTerminal, isJson);
    await withProgress(context, 'Working', new Promise((resolve) => setTimeout(resolve, 1_200)));
    expect(said).toEqual([]);
  });
});
