// The turns of those whose passwords are hashed.
import { HashingTurns } from '../../../../src/administration/accounts/hashing-turns.js';
import { TooManyRequestsError } from '../../../../src/platform/http/throttle/rate-limit.js';

describe('[D107] the password hashing queue', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Works that end when they are told to. */
  function works() {
    const turns = new HashingTurns();
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const ask = (number: number, client = '192.0.2.1') =>
      turns.inTurn(client, async () => {
        begun.push(number);
        await new Promise<void>((resolve) => ends.push(resolve));
        return number;
      });
    return { turns, begun, ends, ask };
  }

  it('hashes two passwords at once in the order of arrival, and queues twenty', async () => {
    const { begun, ends, ask } = works();
    const asked = Array.from({ length: 22 }, (_, index) => ask(index));
    await expect(ask(22)).rejects.toBeInstanceOf(TooManyRequestsError);
    expect(begun).toEqual([0, 1]);
    for (let index = 0; index < 22; index++) {
      ends[index]?.();
      expect(await asked[index]).toBe(index);
    }
    expect(begun).toEqual(Array.from({ length: 22 }, (_, index) => index));
    const again = ask(23);
    ends[22]?.();
    expect(await again).toBe(23);
  });

  const ofOne48 = (index: number) => `2001:db8:1:${index}::/64`;
  it.each([
    ['one /48, but not from another network', ofOne48, '192.0.2.1', 'the crowd'],
    ['one /48, but not from another one of its /32', ofOne48, '2001:db8:2:1::/64', 'the crowd'],
    ['one /48, including the latest one', ofOne48, '2001:db8:1:ffff::/64', 'who comes last'],
    [
      'one /24, but not from another one of its /16',
      (index: number) => `203.0.113.${index}`,
      '203.0.112.1',
      'the crowd',
    ],
    [
      'twenty networks, including the latest one',
      (index: number) => `10.${index}.0.1`,
      '192.0.2.1',
      'who comes last',
    ],
  ])('refuses requests from %s if it is full', async (_what, crowd, client, refused) => {
    jest.useFakeTimers();
    const { ask } = works();
    const asked = Array.from({ length: 22 }, (_, index) => ask(index, crowd(index)).catch(() => 'the crowd'));
    const last = ask(22, client).catch(() => 'who comes last');
    expect(await Promise.race([...asked, last])).toBe(refused);
  });

  it('prefers the network with the fewest queued requests', async () => {
    const { begun, ends, ask } = works();
    const asked = Array.from({ length: 5 }, (_, index) => ask(index, ofOne48(index)));
    const own = ask(5, '192.0.2.1');
    for (let turn = 0; turn < 6; turn++) {
      ends[turn]?.();
      await asked[begun[turn] ?? 0];
    }
    expect([await own, begun]).toEqual([5, [0, 1, 5, 2, 3, 4]]);
  });

  it('waits at most five seconds, and skips disconnected clients', async () => {
    jest.useFakeTimers();
    const { begun, ends, ask } = works();
    const [first, second, late] = [ask(0), ask(1), ask(2)];
    const refused = jest.fn();
    late.catch(refused);
    await jest.advanceTimersByTimeAsync(4_999);
    expect(refused).not.toHaveBeenCalled();
    await jest.advanceTimersByTimeAsync(1);
    expect(refused).toHaveBeenCalledWith(expect.any(TooManyRequestsError));
    for (const end of ends) end();
    await Promise.all([first, second]);
    expect(begun).toEqual([0, 1]);
    const [next, another] = [ask(3), ask(4)];
    expect(begun).toEqual([0, 1, 3, 4]);
    for (const end of ends) end();
    await Promise.all([next, another]);
  });

  it('starts the next request after one that fails', async () => {
    const { turns } = works();
    const fails = () => turns.inTurn('192.0.2.1', () => Promise.reject(new Error('no')));
    for (let round = 0; round < 5; round++) await expect(fails()).rejects.toThrow('no');
    await expect(turns.inTurn('192.0.2.1', () => Promise.resolve(1))).resolves.toBe(1);
  });
});
