// Checks which addresses count as one client.
import { clientOf } from '../../../../../src/platform/http/throttle/rate-limit.js';

describe('[D19] the client key', () => {
  it.each([
    ['an IPv4 address', '203.0.113.9', '203.0.113.9'],
    ['IPv4 mapped into IPv6', '::ffff:203.0.113.9', '203.0.113.9'],
    ['the same in hexadecimal', '::ffff:cb00:7109', '203.0.113.9'],
    ['an IPv6 address: its /64', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['another of the same /64, in capitals', '2001:DB8:1:2:FFFF::1', '2001:db8:1:2::/64'],
    ['one of the next /64', '2001:db8:1:3::', '2001:db8:1:3::/64'],
    ['one with a zone', 'fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['IPv4 with the port that a proxy added', '203.0.113.9:4711', '203.0.113.9'],
    ['IPv6 with the port that a proxy added', '[2001:db8:1:2::7]:4711', '2001:db8:1:2::/64'],
  ])('for %s', (_, address, client) => {
    expect(clientOf(address)).toBe(client);
  });

  it.each(['', 'unknown', '_hidden', '1.2.3.4.5', '[::1', '2001:db8::1:4711:x', 'a'.repeat(300)])(
    'is the same for all invalid addresses: %j',
    (text) => expect(clientOf(text)).toBe('unknown'),
  );
});
