import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RegisteredAgent } from 'spend-receipt-gateway/client/register-agent';

/**
 * Writes AGENT_ID and SESSION, as the examples take them, to a new file that only this user can read, and prints its path: the
 * session opens the book, and is returned once.
 */
export async function keepSession(registered: RegisteredAgent): Promise<RegisteredAgent> {
  const { agent_id, session } = registered;
  const file = join(await mkdtemp(join(tmpdir(), 'agent-')), 'session.env');
  await writeFile(file, `AGENT_ID=${agent_id}\nSESSION=${session}\n`, { mode: 0o600 });
  console.log(`registered agent ${agent_id}; AGENT_ID and SESSION are in ${file}`);
  return registered;
}
