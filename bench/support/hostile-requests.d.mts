// The types of hostile-requests.mjs, for the tests.

/** Makes a value of about `bytes` bytes. */
type OfSize<T> = (bytes: number) => T;

export interface Hostile {
  readonly name: string;
  /** The full size, in bytes. */
  readonly bytes: number;
  readonly body?: OfSize<string | Promise<string>>;
  readonly headers?: OfSize<Record<string, string>>;
  readonly query?: OfSize<string>;
}

export interface HostileRoute {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

interface Flow {
  readonly path: string;
  readonly fields: readonly string[];
  readonly form: Readonly<Record<string, string>>;
  readonly formOf: (token: string) => string;
}

interface ObjectSchema {
  readonly properties?: Readonly<Record<string, object>>;
}

export const FLOWS: readonly [exchange: Flow, embed: Flow];
export const ROUTES: readonly [method: string, path: string, parameters: readonly string[]][];

export function hostileForms(flow: Flow): Hostile[];
export function hostileTokens(
  flow: Flow,
  sign: (claims: Record<string, unknown>) => string | Promise<string>,
): Hostile[];
export function hostileBodies(schema: ObjectSchema, good: object): Hostile[];
export function hostileCredentials(schemas: Readonly<Record<string, ObjectSchema>>, good: object): Hostile[];
export function hostileHeaders(): Hostile[];
export function hostileQueries(names: readonly string[]): Hostile[];
export function hostileRequest(
  route: HostileRoute,
  hostile: Hostile,
  bytes: number,
): Promise<HostileRoute & { readonly body?: string }>;
