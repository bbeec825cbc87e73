// The words behind `npm start --`.
import { VERSION } from '../../../src/platform/version.js';
import { CommandLineError, readCommandLine } from '../../../src/instance/command-line.js';

describe('the command line of the start', () => {
  it('is nothing, as a rule', () => {
    expect(readCommandLine([])).toEqual({});
  });

  it.each([
    ['two words', ['--env-file', 'production.env']],
    ['one', ['--env-file=production.env']],
  ])('may name an env file, in %s', (_, args) => {
    expect(readCommandLine(args)).toEqual({ envFile: 'production.env' });
  });

  it.each(['--version', '-V'])('asks for the version by %s', (word) => {
    expect(readCommandLine([word])).toEqual({ answer: `${VERSION}\n` });
  });

  it.each([['--help'], ['-h'], ['--help', '--version'], ['--env-file', 'a.env', '--help']])(
    'asks for help, which names every option: %s',
    (...args) => {
      const { answer = '' } = readCommandLine(args);
      expect(answer).toMatch(/^Usage: /);
      expect(answer.match(/--[\w-]+(?= )/g)).toEqual(
        expect.arrayContaining(['--env-file', '--version', '--help']),
      );
    },
  );

  it.each([
    ['an option that is none', ['--frobnicate'], "'--frobnicate'"],
    ['a word that is no option', ['production.env'], "'production.env'"],
    ['an env file without its name', ['--env-file'], "'--env-file <value>'"],
    ['a version with a value', ['--version=2'], "'-V, --version'"],
  ])('is refused with %s', (_, args, named) => {
    const read = () => readCommandLine(args);
    expect(read).toThrow(CommandLineError);
    expect(read).toThrow(new RegExp(`^error: .*${named}.*\n\\(add --help to see how it is used\\)$`, 's'));
  });
});
