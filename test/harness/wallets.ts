import { randomBytes } from 'node:crypto';
import {
  concatHex,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  getAddress,
  type Hex,
  http,
  type PrivateKeyAccount,
  serializeErc6492Signature,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { networks } from '../../schema/network.ts';
import type { Wallet } from './buyer.ts';
import type { TestChain } from './chain.ts';
import { contractNamed } from './contracts.ts';

const HOLDS_ATOMIC = 1_000_000n;
/** Key of an account of anvil that no other test uses. It pays for deployments and transactions. */
export const SPONSOR: Hex = '0x47e179ec197488593b187f80a00eb0da91f1b9d0b13f8733639f19c30a34926a';

/** An address with USDC and the key of its owner, who signs payments and texts in the form that the address's code requires. */
export interface ContractWallet extends Wallet, Pick<PrivateKeyAccount, 'signMessage'> {
  readonly owner: PrivateKeyAccount;
}

type Sign = (signature: Hex) => Hex;
/** Converts a signature to the form that TaggedWallet requires: 66 bytes. */
export const tagged: Sign = signature => concatHex(['0x01', signature]);
export const plain: Sign = signature => signature;

export type TestWallets = ReturnType<typeof openWallets>;

/** Contract wallets of every kind on a test chain. */
export function openWallets(chain: TestChain) {
  const sponsor = sponsorOf(chain);

  async function walletAt(address: Hex, owner: PrivateKeyAccount, sign: Sign, amount_atomic = HOLDS_ATOMIC) {
    if (amount_atomic > 0n) await chain.mint(address, amount_atomic);
    return walletOf(address, owner, sign);
  }
  async function ownedWallet(name: string, sign: Sign, amount_atomic?: bigint) {
    const owner = newOwner();
    return walletAt(await sponsor.deploy(name, owner.address), owner, sign, amount_atomic);
  }

  return {
    deploy: sponsor.deploy,
    /** A deployed wallet that accepts the 65-byte signature of its owner. */
    plain: (amount_atomic?: bigint) => ownedWallet('PlainWallet', plain, amount_atomic),
    /** A deployed wallet that accepts 66 bytes: 0x01, then the signature of its owner. */
    tagged: (amount_atomic?: bigint) => ownedWallet('TaggedWallet', tagged, amount_atomic),
    /** A deployed wallet that accepts the same 66 bytes. The first byte can select a misbehaviour instead of 0x01. */
    moody: () => ownedWallet('MoodyWallet', tagged),
    /** A wallet that is not deployed yet. Its signatures contain its deployment (ERC-6492). */
    async unmade(factory: Hex, amount_atomic?: bigint): Promise<ContractWallet> {
      const { abi } = await contractNamed('WalletFactory');
      const owner = newOwner();
      const args = [owner.address, `0x${randomBytes(32).toString('hex')}`];
      const address = (await sponsor.read(factory, abi, 'addressOf', args)) as Hex;
      const data = encodeFunctionData({ abi, functionName: 'make', args });
      const wrapped: Sign = signature =>
        serializeErc6492Signature({ address: factory, data, signature: tagged(signature) });
      return walletAt(address, owner, wrapped, amount_atomic);
    },
    /** A key's address that has delegated to a contract by a transaction of type 4 (EIP-7702). */
    async delegated(to: Hex, owner: PrivateKeyAccount = newOwner(), amount_atomic?: bigint): Promise<ContractWallet> {
      await sponsor.delegate(owner, to);
      return walletAt(owner.address, owner, tagged, amount_atomic);
    },
    /** A contract without an owner, for which any signature is valid. */
    async of(name: string): Promise<ContractWallet> {
      return walletAt(await sponsor.deploy(name), newOwner(), tagged);
    },
    /** A wallet that uses up its gas in every block after the current one. */
    async burner(): Promise<ContractWallet> {
      const wallet = await walletAt(await sponsor.deploy('Burner'), newOwner(), tagged);
      await this.arm(wallet);
      return wallet;
    },
    async arm({ address }: Pick<ContractWallet, 'address'>): Promise<void> {
      const { abi } = await contractNamed('Burner');
      await this.call(address, encodeFunctionData({ abi, functionName: 'arm' }));
    },
    async switchOff({ address, owner }: ContractWallet): Promise<void> {
      const { abi } = await contractNamed('PlainWallet');
      await chain.call('anvil_setBalance', owner.address, '0xde0b6b3a7640000');
      await sponsor.send(owner, { to: address, data: encodeFunctionData({ abi, functionName: 'switchOff' }) });
    },
    /** A call by an unrelated account. */
    call: (to: Hex, data: Hex) => sponsor.send(privateKeyToAccount(SPONSOR), { to, data }),
    codeAt: (address: Hex) => chain.call<Hex>('eth_getCode', address, 'latest'),
  };
}

function newOwner(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey());
}

function walletOf(address: Hex, owner: PrivateKeyAccount, sign: Sign): ContractWallet {
  return {
    address: getAddress(address),
    owner,
    signTypedData: async (...typed: Parameters<PrivateKeyAccount['signTypedData']>) =>
      sign(await owner.signTypedData(...typed)),
    signMessage: async text => sign(await owner.signMessage(text)),
  } as ContractWallet;
}

interface Sent {
  readonly to?: Hex;
  readonly data?: Hex;
  readonly authorizationList?: readonly Awaited<ReturnType<PrivateKeyAccount['signAuthorization']>>[];
}

/** Sends deployments and transactions one after the other, because two that request a nonce at the same time would get the same one. */
function sponsorOf({ rpc_url }: TestChain) {
  const base = defineChain({
    id: networks.base.chain_id,
    name: 'Base',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [rpc_url] } },
  });
  const reader = createPublicClient({ chain: base, transport: http(rpc_url), pollingInterval: 10 });
  const account = privateKeyToAccount(SPONSOR);
  let sending: Promise<unknown> = Promise.resolve();

  async function send(from: PrivateKeyAccount, sent: Sent) {
    const client = createWalletClient({ account: from, chain: base, transport: http(rpc_url) });
    const next = sending
      .catch(() => {})
      .then(async () => {
        const hash = await client.sendTransaction({ ...sent } as Parameters<typeof client.sendTransaction>[0]);
        return reader.waitForTransactionReceipt({ hash });
      });
    sending = next;
    const receipt = await next;
    if (receipt.status !== 'success') throw new Error(`${receipt.transactionHash} was reverted`);
    return receipt;
  }
  return {
    send,
    async deploy(name: string, ...owner: Hex[]): Promise<Hex> {
      const { bytecode } = await contractNamed(name);
      const words = owner.map((it): Hex => `0x${it.slice(2).padStart(64, '0')}`);
      const { contractAddress } = await send(account, { data: concatHex([bytecode, ...words]) });
      if (!contractAddress) throw new Error(`${name} was not deployed`);
      return contractAddress;
    },
    async delegate(owner: PrivateKeyAccount, to: Hex): Promise<void> {
      const nonce = await reader.getTransactionCount({ address: owner.address });
      const signed = await owner.signAuthorization({ address: to, chainId: base.id, nonce });
      // Sent to the sponsor, because a transaction to the owner's address would run its new code.
      await send(account, { to: account.address, authorizationList: [signed] });
    },
    read: (
      address: Hex,
      abi: Awaited<ReturnType<typeof contractNamed>>['abi'],
      functionName: string,
      args: unknown[],
    ) => reader.readContract({ address, abi, functionName, args }),
  };
}
