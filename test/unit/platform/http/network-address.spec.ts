// Which network addresses a fetch may connect to.
import { NetworkAddressPolicy } from '../../../../src/platform/http/network-address.js';

const PUBLIC_ONLY = new NetworkAddressPolicy({ allowLoopback: false, allowRanges: [] });

describe('without exceptions', () => {
  it.each(['1.1.1.1', '93.184.216.34', '172.32.0.0', '100.63.255.255', '2606:4700::1111'])(
    '[D33] %s is public',
    (address) => expect(PUBLIC_ONLY.allows(address)).toBe(true),
  );

  it.each([
    ['unspecified', ['0.0.0.0', '0.1.2.3', '::']],
    ['loopback', ['127.0.0.1', '127.255.255.254', '::1']],
    ['link-local', ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', 'febf::1']],
    ['private', ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', 'fc00::1', 'fd12::1', 'fec0::1']],
    ['CGNAT', ['100.64.0.1', '100.127.255.255']],
    ['multicast and broadcast', ['224.0.0.1', '239.255.255.255', '255.255.255.255', 'ff02::1']],
    [
      'reserved or for documents',
      ['192.0.0.8', '192.0.2.1', '198.18.0.1', '198.51.100.1', '203.0.113.1', '240.0.0.1'],
    ],
    ['reserved in IPv6', ['2001:db8::1', '3fff::1', '100::1', '5f00::1', '4000::1', '::2', '1::1']],
    ['IPv4-mapped', ['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:93.184.216.34', '::ffff:7f00:1']],
    ['IPv4-compatible', ['::127.0.0.1', '::7f00:1', '::a00:1']],
    ['NAT64', ['64:ff9b::127.0.0.1', '64:ff9b::5db8:d822', '64:ff9b:1::a00:1']],
    ['6to4 or Teredo', ['2002:7f00:1::', '2002:a00:1::1', '192.88.99.1', '2001:0:7f00:1::1']],
    ['no address', ['', 'localhost', '1.2.3.4.5', '10.0.0.1/8', '::g']],
  ])('[D33] %s is rejected', (_range, addresses) => {
    expect(addresses.filter((address) => PUBLIC_ONLY.allows(address))).toEqual([]);
  });
});

describe('exceptions', () => {
  it('[D33] only loopback is added', () => {
    const policy = new NetworkAddressPolicy({ allowLoopback: true, allowRanges: [] });
    expect(['127.0.0.1', '127.9.9.9', '::1'].filter((address) => !policy.allows(address))).toEqual([]);
    const others = ['::ffff:127.0.0.1', '::127.0.0.1', '0.0.0.0', '10.0.0.1', '169.254.169.254'];
    expect(others.filter((address) => policy.allows(address))).toEqual([]);
  });

  it('[D33] only listed ranges are added, in any spelling', () => {
    const policy = new NetworkAddressPolicy({
      allowLoopback: false,
      allowRanges: ['10.1.0.0/16', 'fd00:1::/32'],
    });
    expect(
      ['10.1.0.1', '10.1.255.255', 'fd00:1::5', '1.1.1.1'].every((address) => policy.allows(address)),
    ).toBe(true);
    const others = ['10.2.0.1', '::ffff:10.1.0.1', 'fd00:2::1', '127.0.0.1', '::1', '192.168.0.1'];
    expect(others.filter((address) => policy.allows(address))).toEqual([]);
  });
});
