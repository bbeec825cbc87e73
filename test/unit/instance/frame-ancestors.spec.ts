// Who may frame the instance, and the warnings at the start.
import {
  embeddingWarnings,
  FrameAncestors,
  frameAncestorsOf,
  PresentEntries,
} from '../../../src/instance/frame-ancestors.js';

const PRODUCT = 'https://product.example';
const OTHER = 'https://other.example';

const config = {
  featureFlag: true,
  embedLoginEnabled: true,
  frameAncestors: [] as string[],
  baseUrl: 'https://instance.example',
};
const silent = { warn: () => undefined };
const entry = (label: string, ...origins: string[]) =>
  origins.length === 0 ? { label } : { label, origins: new Set(origins) };

const PLAIN = { baseUrl: 'http://instance.example' };
const JOBS = { label: 'jobs', flows: new Set(['exchange', 'jwt-bearer'] as const) };

describe('[5.5.3] who may frame the instance', () => {
  it.each([
    ['nobody while embedded login is off', { embedLoginEnabled: false, frameAncestors: [PRODUCT] }, [], []],
    ['whom the setting lists', { frameAncestors: [PRODUCT] }, [entry('a')], [PRODUCT]],
    ['whom entries list', {}, [entry('a', PRODUCT), entry('b')], [PRODUCT]],
    ['both, each once', { frameAncestors: [PRODUCT] }, [entry('a', PRODUCT, OTHER)], [PRODUCT, OTHER]],
    ['whom a reverse proxy allows, where neither says it', {}, [entry('a')], undefined],
  ])('%s', (_, change, entries, expected) => {
    expect(frameAncestorsOf({ ...config, ...change }, entries)).toEqual(expected);
  });
});

describe('[D72] the current list of frame ancestors', () => {
  it('adds the origins of stored entries to the configured ones, and is reused until it changes', () => {
    const entries = new PresentEntries([entry('a', PRODUCT)]);
    const ancestors = new FrameAncestors(config, entries, silent);
    expect(ancestors.current).toEqual([PRODUCT]);
    entries.replaceStored([entry('s', OTHER)]);
    const before = ancestors.current;
    expect(before).toEqual([PRODUCT, OTHER]);
    expect(ancestors.current).toBe(before);
    entries.replaceStored([]);
    expect(ancestors.current).toEqual([PRODUCT]);
  });

  it('is limited to what a header can contain, and the log reports how many are omitted', () => {
    const warnings: string[] = [];
    const logger = { warn: (_: object, text: string) => void warnings.push(text) };
    const many = Array.from(
      { length: 250 },
      (_, index) => `https://w-${100 + index}.customer.product.example`,
    );
    const list = [entry('a', ...many.slice(0, 150)), entry('s', ...many.slice(150))];
    const ancestors = new FrameAncestors(config, new PresentEntries(list), logger);
    // Of 38 characters each, with a space after all but the last.
    expect(ancestors.current).toEqual(many.slice(0, 205));
    expect(warnings).toEqual([
      '45 origins of stored entries cannot frame the instance: all entries together have over 8000 characters',
    ]);
  });
});

describe('[5.5.3] the warnings at the start', () => {
  const warnings = (
    change: Partial<typeof config>,
    entries: Parameters<typeof embeddingWarnings>[1] = [entry('a', PRODUCT)],
  ) => embeddingWarnings({ ...config, ...change }, entries);

  it.each<[string, Partial<typeof config>, Parameters<typeof embeddingWarnings>[1]]>([
    ['if origins are listed and the address is HTTPS', {}, [entry('a', PRODUCT)]],
    ['while embedded login is off', { ...PLAIN, embedLoginEnabled: false }, []],
    ['if the setting may allow the pages of an entry', { frameAncestors: [OTHER] }, [entry('second')]],
    ['for entries without embedded login', {}, [entry('first', PRODUCT), JOBS]],
  ])('are empty %s', (_, change, entries) => expect(warnings(change, entries)).toEqual([]));

  it('report that all sites may frame', () => {
    expect(warnings({}, [entry('a')])).toEqual([
      expect.stringMatching(/^SVC_EMBED_FRAME_ANCESTORS: is not set/),
    ]);
  });

  it('name the entries whose pages cannot frame', () => {
    const entries = [entry('first', PRODUCT), entry('second')];
    expect(warnings({}, entries)).toEqual([expect.stringContaining(': second names no origins')]);
  });

  it.each([
    ['http://instance.example', /browsers drop the session cookie of embedded logins; serve HTTPS/],
    ['http://localhost:5678', /except on localhost, as here/],
  ])('report that %s is plain HTTP', (baseUrl, text) => {
    expect(warnings({ baseUrl })).toEqual([expect.stringMatching(text)]);
  });
});
