// Decides which network addresses outgoing connections may reach.
import ipaddr from 'ipaddr.js';

type Range = ReturnType<typeof ipaddr.parseCIDR>;
type Address = Range[0];

const LOOPBACK: readonly Range[] = ['127.0.0.0/8', '::1/128'].map((range) => ipaddr.parseCIDR(range));
/** The only range of public IPv6 addresses (IANA, IPv6 Global Unicast Address Assignments). */
const GLOBAL_IPV6 = ipaddr.parseCIDR('2000::/3');

interface NetworkAddressExceptions {
  /** Adds 127.0.0.0/8 and ::1. */
  readonly allowLoopback: boolean;
  /** Adds CIDR ranges. An IPv4 range does not cover IPv6 forms of its addresses. */
  readonly allowRanges: readonly string[];
}

/** The names of the settings that allow more addresses. */
interface ExceptionNames {
  /** Adds loopback addresses. */
  readonly allowHttp: string;
  readonly allowPrivate: string;
}

/** The peer has an address that is not allowed. */
export class AddressRefusedError extends Error {
  constructor(readonly address: string | undefined) {
    super(`the address ${address ?? '(unknown)'} is not public and not allowed by the configuration`);
  }
}

/**
 * Allows only public addresses and the operator's exceptions.
 *
 * Everything with a special purpose is refused (the IANA special-purpose registries: private, link-local,
 * CGNAT, documentation, multicast, …). So are all IPv6 forms that wrap an IPv4 address (mapped, NAT64, 6to4,
 * Teredo): otherwise each refused address would have a second spelling. A network that reaches IPv4 through
 * NAT64 adds 64:ff9b::/96.
 */
export class NetworkAddressPolicy {
  private readonly exceptions: readonly Range[];

  constructor({ allowLoopback, allowRanges }: NetworkAddressExceptions) {
    const ranges = allowRanges.map((range) => ipaddr.parseCIDR(range));
    this.exceptions = allowLoopback ? [...LOOPBACK, ...ranges] : ranges;
  }

  /** Whether connections to an address may be opened. The address is from a socket or a name server. */
  allows(text: string): boolean {
    if (!ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    return isPublic(address) || this.exceptions.some((range) => isIn(range, address));
  }
}

/** The setting that allows a given non-public address. */
export function settingThatAllows(
  address: string | undefined,
  { allowHttp, allowPrivate }: ExceptionNames,
): string {
  const isKnown = address !== undefined && ipaddr.isValid(address);
  const isLoopback = isKnown && LOOPBACK.some((range) => isIn(range, ipaddr.parse(address)));
  return isLoopback ? `${allowHttp} or ${allowPrivate}` : allowPrivate;
}

/** The library calls an address outside the special ranges "unicast". */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false;
  return address instanceof ipaddr.IPv4 || isIn(GLOBAL_IPV6, address);
}

function isIn([network, bits]: Range, address: Address): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
