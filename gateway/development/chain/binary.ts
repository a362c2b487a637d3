import { chmod, copyFile, mkdir, rename } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { succeeds } from '../spawn-detached.ts';

const architectures: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** An anvil that runs: the package's, or a copy in `copies` where it lost its exec bit and is not ours to change. */
export async function runnableAnvil(copies: string): Promise<string> {
  const shipped = packagedAnvil();
  if (succeeds(null, shipped, ['--version'])) return shipped;
  const copy = join(copies, 'anvil');
  await mkdir(copies, { recursive: true });
  await copyFile(shipped, `${copy}.${process.pid}`);
  await chmod(`${copy}.${process.pid}`, 0o700);
  await rename(`${copy}.${process.pid}`, copy);
  return copy;
}

function packagedAnvil(): string {
  const name = `@foundry-rs/anvil-${process.platform}-${architectures[process.arch] ?? process.arch}`;
  // The platform's package is a dependency of @foundry-rs/anvil, not ours: look it up from there.
  const inner = createRequire(createRequire(import.meta.url).resolve('@foundry-rs/anvil/package.json'));
  return inner.resolve(`${name}/bin/anvil`);
}
