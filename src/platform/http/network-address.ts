// Decides to which network addresses a fetch may connect.
import ipaddr from 'ipaddr.js';

type Range = ReturnType<typeof ipaddr.parseCIDR>;
type Address = Range[0];

const LOOPBACK: readonly Range[] = ['127.0.0.0/8', '::1/128'].map((range) => ipaddr.parseCIDR(range));
/** The only part of IPv6 that public addresses are given from (IANA, IPv6 Global Unicast Address Assignments). */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

interface NetworkAddressExceptions {
  /** Adds 127.0.0.0/8 and ::1. */
  readonly allowLoopback: boolean;
  /** Adds CIDR ranges. An IPv4 range does not cover IPv6 spellings of its addresses. */
  readonly allowRanges: readonly string[];
}

/** The names of the settings that allow more. */
interface ExceptionNames {
  /** Adds loopback addresses. */
  readonly allowHttp: string;
  readonly allowPrivate: string;
}

/** The other side has an address that is not allowed. */
export class AddressRefusedError extends Error {
  constructor(readonly address: string | undefined) {
    super(`the address ${address ?? '(unknown)'} is not public and not allowed by the configuration`);
  }
}

/**
 * Public addresses, and what the operator adds.
 *
 * Everything with a special meaning is refused (the IANA special-purpose registries: private, link-local, CGNAT,
 * documentation, multicast, …). So are all IPv6 forms that wrap an IPv4 address (mapped, NAT64, 6to4, Teredo):
 * they would be a second spelling for each refused address. A network that reaches IPv4 by NAT64 adds 64:ff9b::/96.
 */
export class NetworkAddressPolicy {
  private readonly exceptions: readonly Range[];

  constructor({ allowLoopback, allowRanges }: NetworkAddressExceptions) {
    const ranges = allowRanges.map((range) => ipaddr.parseCIDR(range));
    this.exceptions = allowLoopback ? [...LOOPBACK, ...ranges] : ranges;
  }

  /** Whether an address, from `socket.remoteAddress` or a name server, may be connected to. */
  allows(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    return isPublic(address) || this.exceptions.some((range) => liesIn(range, address));
  }
}

/** The setting by which an operator allows an address that is not public. */
export function settingThatAllows(
  address: string | undefined,
  { allowHttp, allowPrivate }: ExceptionNames,
): string {
  const isKnown = address !== undefined && ipaddr.isValid(address);
  const isLoopback = isKnown && LOOPBACK.some((range) => liesIn(range, ipaddr.parse(address)));
  return isLoopback ? `${allowHttp} or ${allowPrivate}` : allowPrivate;
}

/** "unicast" is the library's word for an address in none of the special ranges. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || liesIn(GLOBAL_IPV6, address);
}

function liesIn([network, bits]: Range, address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
