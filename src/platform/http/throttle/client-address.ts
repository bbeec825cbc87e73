// Says which requests count as one client's, from their address.
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What one network of IPv6 clients shares: the smallest that a provider hands out, in 16-bit groups. */
const IPV6_NETWORK_GROUPS = 4;
/** Some proxies write the port behind the address. */
const WITH_PORT = /^(?:\[(?<ipv6>[^\]]+)\]|(?<ipv4>[\d.]+))(?::\d+)?$/;

/**
 * The client that an address stands for: an IPv4 address as it is, also where it is mapped into IPv6, and of other
 * IPv6 addresses their /64, because a single client has all of that. What is no address counts as one client, so that
 * made-up ones are not worth anything.
 * @param address as the server's `request.ip` gives it; which hop that is, the server's trust in proxies has decided
 */
export function clientOf(address = ''): string {
  // Nearly every address is one already, and parsing would give it back.
  if (isIPv4(address)) return address;
  const parsed = parse(address);
  if (parsed === undefined) return 'unknown';
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const network = parsed.parts.slice(0, IPV6_NETWORK_GROUPS).map((group) => group.toString(16));
  return `${network.join(':')}::/64`;
}

/** Addresses that are mapped into IPv6 come out as IPv4. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const { ipv6, ipv4 } = WITH_PORT.exec(address)?.groups ?? {};
  const bare = ipv6 ?? ipv4 ?? address;
  return ipaddr.isValid(bare) ? ipaddr.process(bare) : undefined;
}
