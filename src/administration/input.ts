// Parses the inputs of administrative operations strictly: each property has a schema, and unknown ones are
// refused.
import { z } from 'zod';
import { InputError } from './command-error.js';

/**
 * Creates a parser for inputs with these properties. It throws InputError for the first property that breaks
 * its rule.
 */
export function inputOf<Shape extends z.ZodRawShape>(shape: Shape) {
  const schema = z.strictObject(shape, 'must be an object');
  const known = Object.keys(shape).join(', ') || 'none';
  return (input: unknown): z.output<typeof schema> => {
    const { success, data, error } = schema.safeParse(input);
    if (success) return data;
    const [issue] = error.issues;
    if (issue?.code === 'unrecognized_keys')
      throw new InputError('The input', `has a member that is not known; known are ${known}`);
    throw new InputError(String(issue?.path[0] ?? 'The input'), issue?.message ?? 'is refused');
  };
}

/** Parses the input of an operation without parameters. */
export const readNothing = inputOf({});
