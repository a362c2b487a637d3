import { type ContractSignature, type EcdsaSignature, forCode, type Signature } from './signature.ts';

/** Who is asked about a payment's signature, given what stands at the payer's address; or why nobody is. */
export type Signer =
  | { readonly kind: 'key'; readonly signature: EcdsaSignature }
  | { readonly kind: 'code'; readonly signature: ContractSignature }
  /** `reason` is x402's own word. */
  | { readonly kind: 'refused'; readonly reason: string };

/**
 * Where code stands (a contract, or an account that has delegated to one by EIP-7702) USDC asks that code and nothing
 * else, whatever the length of the signature: so do we. Where none stands, a key signs, or a wallet that is still to be
 * made (ERC-6492): by a factory that we know, since the call to it is sent with our gas.
 */
export function signerOf(shown: Signature, has_code: boolean, factories: ReadonlySet<string>): Signer {
  if (has_code) return { kind: 'code', signature: forCode(shown) };
  if (shown.kind === 'ecdsa') return { kind: 'key', signature: shown };
  if (shown.deploy === null) return { kind: 'refused', reason: 'invalid_exact_evm_payload_signature' };
  if (!factories.has(shown.deploy.factory.toLowerCase()))
    return { kind: 'refused', reason: 'eip6492_factory_not_allowed' };
  return { kind: 'code', signature: shown };
}
