import { networks } from '../../../schema/network.ts';
import { addressOfKey } from '../../../schema/secp256k1.ts';
import { developmentBuyers, usdcAdmin } from './accounts.ts';
import { multicall3Code } from './multicall3.ts';
import { type RpcCall, rpc } from './rpc.ts';
import { type Contract, usdcContracts } from './usdc.ts';

const BUYER_USDC_ATOMIC = 1_000_000_000n;

/** The calls that turn an empty anvil into the development Base; one block at their end seals them. */
export function genesisCalls(): RpcCall[] {
  const holdings = developmentBuyers.map(({ address }) => ({ address, amount_atomic: BUYER_USDC_ATOMIC }));
  const contracts: Contract[] = [
    { address: networks.base.multicall3, code: multicall3Code, storage: {} },
    ...usdcContracts(usdcAdmin.address, holdings),
  ];
  return [...contracts.flatMap(installCalls), { method: 'anvil_mine', params: ['0x1'] }];
}

function installCalls({ address, code, storage }: Contract): RpcCall[] {
  const cells = Object.entries(storage).map(([slot, value]) => ({
    method: 'anvil_setStorageAt',
    params: [address, slot, value],
  }));
  return [{ method: 'anvil_setCode', params: [address, code] }, ...cells];
}

/** Play money for years of anchors, as the settlement keys have it. */
const BALANCE_WEI = 10n ** 19n;

/** The anchor key is made under DATA_DIR, so that no two logs share one: genesis cannot know it. */
export async function giveAnchorGas(rpc_url: string, seed: string): Promise<void> {
  const address = addressOfKey(Buffer.from(seed, 'hex'));
  await rpc(rpc_url, 'anvil_setBalance', address, `0x${BALANCE_WEI.toString(16)}`);
}
