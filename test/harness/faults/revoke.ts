import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../root.ts';
import type { Ground } from './ground.ts';

const run = promisify(execFile);

/** Runs the command by which an operator revokes a signing key while processes serve. Returns its output, of either stream. */
export async function revokeKeyBy(ground: Ground, issuer_keys: string, ...words: readonly string[]): Promise<string> {
  const env = { ...ground.environment(), ISSUER_KEYS: issuer_keys };
  const command = ['gateway/launch.js', 'gateway/commands/revoke-key.ts', ...words];
  const { stdout, stderr } = await run(process.execPath, command, { cwd: ROOT, env }).catch(
    (refused: { stdout: string; stderr: string }) => refused,
  );
  return stdout + stderr;
}
