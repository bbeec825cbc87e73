// What a person at a terminal is told while a command works, and that nobody else is.
import { Answers } from '../../../src/cli/answers.js';
import { withProgress } from '../../../src/cli/progress.js';

/** Where a command writes, and how it ends work as soon as something was told, or after a while. */
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
  it('is reported at a terminal, and wiped away when the work is done', async () => {
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
  ])('is not reported %s', async (_, isTerminal, isJson) => {
    const { context, said } = watched(isTerminal, isJson);
    await withProgress(context, 'Working', new Promise((resolve) => setTimeout(resolve, 1_200)));
    expect(said).toEqual([]);
  });

  it('is wiped away when the work has failed', async () => {
    const { context, said, told } = watched(true, false);
    const failing = told.then(() => Promise.reject(new Error('no')));
    await expect(withProgress(context, 'Working', failing)).rejects.toThrow('no');
    expect(said.at(-1)).toBe('\r\u001b[K');
  });
});
