// The turns of those whose passwords are hashed: two at once, a bounded number that waits, each for a bounded time.
import { PasswordHasher } from '../../../../src/operator/accounts/password-hasher.js';
import { TooManyRequestsError } from '../../../../src/token-exchange/throttle/too-many-requests.error.js';

describe('[D107] the turns at the password hasher', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  /** Works that end when they are told to. */
  function works() {
    const hasher = new PasswordHasher();
    const begun: number[] = [];
    const ends: (() => void)[] = [];
    const ask = (number: number) =>
      hasher.inTurn(async () => {
        begun.push(number);
        await new Promise<void>((resolve) => ends.push(resolve));
        return number;
      });
    return { hasher, begun, ends, ask };
  }

  it('come in the order of asking, two at once, and twenty wait', async () => {
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

  it('are waited for five seconds at most, and who has gone takes none', async () => {
    jest.useFakeTimers();
    const { begun, ends, ask } = works();
    const [first, second, late] = [ask(0), ask(1), ask(2)];
    const refused = expect(late).rejects.toBeInstanceOf(TooManyRequestsError);
    await jest.advanceTimersByTimeAsync(5_000);
    await refused;
    for (const end of ends) end();
    await Promise.all([first, second]);
    expect(begun).toEqual([0, 1]);
    const [next, another] = [ask(3), ask(4)];
    expect(begun).toEqual([0, 1, 3, 4]);
    for (const end of ends) end();
    await Promise.all([next, another]);
  });

  it('are handed on by work that fails', async () => {
    const { hasher } = works();
    const fails = () => hasher.inTurn(() => Promise.reject(new Error('no')));
    for (let round = 0; round < 5; round++) await expect(fails()).rejects.toThrow('no');
    await expect(hasher.inTurn(() => Promise.resolve(1))).resolves.toBe(1);
  });
});
