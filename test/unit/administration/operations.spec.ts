// Holds the table of operations against the commands of the command line.
import { InputError } from '../../../src/administration/command-error.js';
import { OPERATIONS, findOperation } from '../../../src/administration/operations.js';
import { CommandLine } from '../../support/run-cli.js';

describe('the table of operations', () => {
  const line = new CommandLine();

  it('names each once, and finds it by its name alone', () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.map(findOperation)).toEqual(OPERATIONS);
    for (const stranger of ['', 'users', 'users create ', 'Users create', 'toString'])
      expect(() => findOperation(stranger)).toThrow('knows no such command');
  });

  it.each(OPERATIONS.map(({ name }) => name))('has a command: %s', async (name) => {
    const { exitCode, stdout } = await line.run([...name.split(' '), '--help']);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Usage: svc-admin ${name} `)]);
  });

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'refuses what is no input: %s',
    (_, operation) => {
      for (const input of [undefined, null, 'a', [], { unknown: 1 }])
        expect(() => operation.read(input)).toThrow(InputError);
    },
  );
});
