// Reads from the name of a prebuilt package for which platform it is made.

const systems = 'android|darwin|freebsd|linux|openharmony|win32';
const processors = 'arm64|arm|ia32|loong64|ppc64|riscv64|s390x|x64';
const platformName = new RegExp(`-(${systems})-(${processors})(?:-(\\w+))?$`);
const libraries = { gnu: 'glibc', glibc: 'glibc', musl: 'musl' };

/**
 * `@swc/core-linux-x64-musl` is for `{ os: ['linux'], cpu: ['x64'], libc: ['musl'] }`, as npm writes it.
 * Makers give no C library to the names that end in `gnueabihf` and `musleabihf`. Undefined for any other name.
 */
export function platformOf(packageName) {
  const [, os, cpu, abi] = platformName.exec(packageName) ?? [];
  if (os === undefined) return undefined;
  const library = os === 'linux' ? libraries[abi] : undefined;
  return { os: [os], cpu: [cpu], ...(library && { libc: [library] }) };
}
