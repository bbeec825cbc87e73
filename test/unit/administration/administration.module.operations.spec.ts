// Holds the table of operations against the commands of the command line.
import { leavesOf, wholeProgram } from '../../../scripts/docs/commands.js';
import { findOperation, OPERATIONS } from '../../../src/administration/administration.module.js';
import { InputError } from '../../../src/administration/operation.js';

describe('the list of operations', () => {
  it('contains each operation once, and finds it by its exact name', () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.map(findOperation)).toEqual(OPERATIONS);
    for (const stranger of ['', 'users', 'users create ', 'Users create', 'toString'])
      expect(() => findOperation(stranger)).toThrow('has no such command');
  });

  it('has a command for each operation', () => {
    const commands = leavesOf(wholeProgram()).map(({ name }) => name);
    expect(OPERATIONS.map(({ name }) => name).filter((name) => !commands.includes(name))).toEqual([]);
  });

  it.each(OPERATIONS.map((operation) => [operation.name, operation] as const))(
    'rejects invalid input: %s',
    (_, operation) => {
      for (const input of [undefined, null, 'a', [], { unknown: 1 }])
        expect(() => operation.read(input)).toThrow(InputError);
    },
  );
});
