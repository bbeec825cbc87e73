// The words behind `npm start --` and `embedded-token-exchange`.
import { isForInit, readCommandLine } from '../../../src/instance/command-line.js';
import { StartError } from '../../../src/platform/start-error.js';
import { repositoryFile } from '../../support/source-files.js';

const { version } = JSON.parse(repositoryFile('package.json').text) as { version: string };

describe('the start command', () => {
  it.each([
    ['two words', ['--env-file', 'production.env']],
    ['one', ['--env-file=production.env']],
  ])('may name an env file, in %s', (_, args) => {
    expect(readCommandLine(args)).toEqual({ envFile: 'production.env' });
  });

  it.each(['--version', '-V'])('asks for the version by %s', (word) => {
    expect(readCommandLine([word])).toEqual({ answer: `${version}\n` });
  });

  it.each([['--help'], ['-h'], ['--help', '--version'], ['--env-file', 'a.env', '--help']])(
    'asks for help, which lists every option: %s',
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
    ['an env file without its name', ['--env-file'], "'--env-file <value>'"],
  ])('is rejected with %s', (_, args, named) => {
    const read = () => readCommandLine(args);
    expect(read).toThrow(StartError);
    expect(read).toThrow(new RegExp(`^error: .*${named}.*\n\\(add --help to see how it is used\\)$`, 's'));
  });
});

describe('an instance is set up before the start', () => {
  it.each([
    ['where nothing is configured', [], {}, false, true],
    ['by options of init, also where settings are', ['--yes', '--force'], {}, true, true],
    ['not where there is an .env', [], {}, true, false],
    ['not where a variable is set', [], { SVC_PORT: '1' }, false, false],
    ['not with an option of the start', ['--env-file', 'a.env'], {}, false, false],
    ['not to be helped', ['-h'], {}, false, false],
  ])('%s', (_, args, environment, hasEnvFile, expected) => {
    expect(isForInit(args, environment, hasEnvFile)).toBe(expected);
  });
});
