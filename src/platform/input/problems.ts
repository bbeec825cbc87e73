// Turns zod's issues into messages. No message repeats a value.
import { z } from 'zod';
import { didYouMean } from '../text/wording.js';

/** Messages for objects. Other schemas have their own. */
const words: z.core.$ZodErrorMap = ({ code, input }) => {
  if (code !== 'invalid_type') return undefined;
  return input === undefined ? 'is needed' : 'must be an object';
};

/** A property's path, and the rule that it breaks. */
export interface Problem {
  /** Property names separated by dots; empty for the whole input. */
  readonly path: string;
  readonly rule: string;
}

/** Returns the value with its defaults, or every problem. */
export function read<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { readonly value: z.output<S> } | { readonly problems: readonly Problem[] } {
  const { success, data, error } = schema.safeParse(input, { error: words });
  return success ? { value: data } : { problems: error.issues.flatMap((issue) => problemsOf(issue, schema)) };
}

function problemsOf(issue: z.core.$ZodIssue, schema: z.ZodType): Problem[] {
  if (issue.code !== 'unrecognized_keys') return [{ path: issue.path.join('.'), rule: issue.message }];
  const known = Object.keys(shapeAt(schema, issue.path));
  return issue.keys.map((name) => ({
    path: [...issue.path, name].join('.'),
    rule: `is not known${didYouMean(name, known)}`,
  }));
}

/** The properties of the object at a path. */
function shapeAt(schema: z.ZodType, path: readonly PropertyKey[]): z.core.$ZodShape {
  const object = objectIn(schema);
  const [name, ...rest] = path;
  if (object === undefined) return {};
  if (name === undefined) return object.shape;
  const shape: Record<string, unknown> = object.shape;
  const next = shape[String(name)];
  return next instanceof z.ZodType ? shapeAt(next, rest) : {};
}

function objectIn(schema: z.ZodType): z.ZodObject | undefined {
  if (schema instanceof z.ZodObject) return schema;
  const isWrapped =
    schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
  return isWrapped ? objectIn(schema.unwrap() as z.ZodType) : undefined;
}
