import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ROOT } from '../root.ts';
import type { Ground } from './ground.ts';

const run = promisify(execFile);

/** The operator revokes a signing key beside the processes that serve; what the command printed, or said against it. */
export async function revokeKeyBy(ground: Ground, issuer_keys: string, ...words: readonly string[]): Promise<string> {
  const env = { ...ground.environment(), ISSUER_KEYS: issuer_keys };
  const command = ['gateway/launch.js', 'gateway/commands/revoke-key.ts', ...words];
  const { stdout, stderr } = await run(process.execPath, command, { cwd: ROOT, env }).catch(
    (refused: { stdout: string; stderr: string }) => refused,
  );
  return stdout + stderr;
}
