import { addressOfKey } from '../../../schema/secp256k1.ts';
import { rpc } from './rpc.ts';

/** Play money for years of anchors, as the settlement keys have it. */
const BALANCE_WEI = 10n ** 19n;

/** The anchor key is made under DATA_DIR, so that no two logs share one: genesis cannot know it. */
export async function giveAnchorGas(rpc_url: string, seed: string): Promise<void> {
  const address = addressOfKey(Buffer.from(seed, 'hex'));
  await rpc(rpc_url, 'anvil_setBalance', address, `0x${BALANCE_WEI.toString(16)}`);
}
