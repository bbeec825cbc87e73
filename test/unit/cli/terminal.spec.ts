// How a secret is asked for at a terminal.
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { TerminalPrompt } from '../../../src/cli/terminal.js';

describe('the prompt of a terminal', () => {
  it('takes what is typed, with corrections, and shows nothing of it', async () => {
    const stdin = new PassThrough();
    const stderr = new PassThrough();
    const streams = { stdin, stderr } as unknown as Pick<NodeJS.Process, 'stdin' | 'stderr'>;
    const prompt = new TerminalPrompt(streams);
    const first = prompt.ask('New password: ');
    stdin.write('correct horsf\u007fe battery\r');
    expect(await first).toBe('correct horse battery');
    const second = prompt.ask('The same again: ');
    stdin.write('something else\r');
    expect(await second).toBe('something else');
    stderr.end();
    expect(await text(stderr)).toBe('New password: \nThe same again: \n');
  });
});
