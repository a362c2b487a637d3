import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sha256Hex } from '../../../schema/digest.ts';
import { stateFolder } from '../../config/state-folder.ts';

/** Where it was kept before, in the folder that the command was started in. */
const FORMER = '.witness';

/**
 * The folder of a witness that was given none: one for each log, so that two that are followed from one place share neither
 * key nor heads. One that was begun in `.witness` goes on there, since its key is its name.
 */
export async function ownState(url: string, say: (line: string) => void): Promise<string> {
  const { host } = new URL(url);
  const own = stateFolder(join('witness', `${host.replaceAll(/[^\w.-]/g, '_')}-${sha256Hex(url).slice(0, 16)}`));
  if (!(await isFormer(url))) return own;
  say(
    `The state of this witness is in ${FORMER}, inside a checkout. To move it, stop the witness, move the folder to ${own}, and start the witness again.`,
  );
  return FORMER;
}

async function isFormer(url: string): Promise<boolean> {
  const text = await readFile(join(FORMER, 'log.json'), 'utf8').catch(() => null);
  return (text ?? '').includes(JSON.stringify(url));
}
