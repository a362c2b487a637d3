import { x402Facilitator } from '@x402/core/facilitator';
import type { FacilitatorClient } from '@x402/core/server';
import type { FacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { verifyTypedData } from 'viem';
import { networks } from '../../schema/network.ts';

const { caip2: network, usdc, usdc_domain } = networks.base;
const address = '0x00000000000000000000000000000000000000fa';
const hash = `0x${'a'.repeat(64)}` as const;

/** A facilitator that accepts everything at once. */
export function trustingFacilitator(): FacilitatorClient {
  return {
    verify: async () => ({ isValid: true, payer: address }),
    settle: async () => ({ success: true, transaction: hash, network, payer: address }),
    getSupported: async () => ({ kinds: [{ x402Version: 2, scheme: 'exact', network }], extensions: [], signers: {} }),
  };
}

/** The official scheme, which recovers the signature like our side. Its chain answers at once and always reports success. */
export function verifyingFacilitator(): FacilitatorClient {
  const facilitator = new x402Facilitator().register(network, new ExactEvmScheme(standStillSigner));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: async () => facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient['getSupported']>>,
  };
}

const answers: Readonly<Record<string, unknown>> = {
  balanceOf: 10n ** 12n,
  authorizationState: false,
  name: usdc_domain.name,
  version: usdc_domain.version,
};

const standStillSigner: FacilitatorEvmSigner = {
  getAddresses: () => [address],
  readContract: async ({ functionName }) => answers[functionName],
  verifyTypedData: typed => verifyTypedData(typed as Parameters<typeof verifyTypedData>[0]),
  writeContract: async () => hash,
  sendTransaction: async () => hash,
  waitForTransactionReceipt: async () => ({ status: 'success' }),
  getCode: async ({ address }) => (address.toLowerCase() === usdc.toLowerCase() ? '0x60' : '0x'),
};
