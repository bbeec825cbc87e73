// Properties of audit events. Each has a JSON Schema and a TypeScript type.

/** A property of a payload. `Value` is its compile-time type. */
export interface Member<Value, IsOptional extends boolean = false> {
  /** JSON Schema 2020-12, with a description: sentences that end with a full stop. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isOptional: IsOptional;
  readonly value?: Value;
}

export type Members = Readonly<Record<string, Member<unknown, boolean>>>;

/** The type of an object with these properties. */
export type ValueOf<Of extends Members> = {
  readonly [Name in keyof Of as Of[Name]['isOptional'] extends true ? never : Name]: TypeOf<Of[Name]>;
} & {
  readonly [Name in keyof Of as Of[Name]['isOptional'] extends true ? Name : never]?: TypeOf<Of[Name]>;
};

type TypeOf<Of> = Of extends Member<infer Value, boolean> ? Value : never;

/** A row of the catalogue. */
export interface EventRow<Of extends Members = Members> {
  /** When it is written: sentences that end with a full stop. */
  readonly description: string;
  readonly members: Of;
  /** The flow and outcome that metrics count. Refusals have a `reason` of the catalogue of refusals. */
  readonly outcome?: {
    readonly of: 'exchange' | 'embed' | 'logout' | 'api';
    readonly is: 'succeeded' | 'failed';
  };
}

export type Events = Readonly<Record<string, EventRow>>;

/** The payloads of events, by name. */
export type PayloadsOf<Of extends Events> = { readonly [Name in keyof Of]: ValueOf<Of[Name]['members']> };

export function event<Of extends Members>(
  description: string,
  members: Of,
  outcome?: EventRow['outcome'],
): EventRow<Of> {
  return { description, members, outcome };
}

/** @param rules other keywords of JSON Schema */
export function text(description: string, rules: Readonly<Record<string, unknown>> = {}): Member<string> {
  return member({ type: 'string', ...rules, description });
}

export function uuid(description: string): Member<string> {
  return text(description, { format: 'uuid' });
}

export function integer(description: string, minimum = 0): Member<number> {
  return member({ type: 'integer', minimum, description });
}

export function flag(description: string): Member<boolean> {
  return member({ type: 'boolean', description });
}

export function oneOf<const Word extends string>(words: readonly Word[], description: string): Member<Word> {
  return member({ enum: words, description });
}

/** @param rules other keywords of JSON Schema */
export function listOf<Value>(
  { schema: { description: _, ...items } }: Member<Value>,
  description: string,
  rules: Readonly<Record<string, unknown>> = {},
): Member<readonly Value[]> {
  return member({ type: 'array', ...rules, items, description });
}

export function objectOf<Of extends Members>(members: Of, description: string): Member<ValueOf<Of>> {
  return member({ ...objectSchema(members), description });
}

/** An object with arbitrary property names. */
export function textsByName(description: string): Member<Readonly<Record<string, string>>> {
  return member({ type: 'object', additionalProperties: { type: 'string' }, description });
}

/** Any object. */
export function anyObject(description: string): Member<Readonly<Record<string, unknown>>> {
  return member({ type: 'object', description });
}

export function optional<Value>({ schema }: Member<Value>): Member<Value, true> {
  return { schema, isOptional: true };
}

export function objectSchema(members: Members): Readonly<Record<string, unknown>> {
  const all = Object.entries(members);
  return {
    type: 'object',
    additionalProperties: false,
    required: all.filter(([, { isOptional }]) => !isOptional).map(([name]) => name),
    properties: Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
  };
}

function member<Value>(schema: Readonly<Record<string, unknown>>): Member<Value> {
  return { schema, isOptional: false };
}
