import type { Address } from 'viem';
import { Refusal } from '../../../schema/errors.ts';
import type { RegistrationRequest } from '../../../schema/requests/registration.ts';
import type { Payer } from '../../sale.ts';
import type { SessionContext } from '../context.ts';
import { proveControl } from './control.ts';
import type { RegistrationText } from './take-signature.ts';

/**
 * Verifies that the caller controls the wallet of the request. Returns the wallet and the signed text. `look` checks whether the wallet
 * can register at all, before the chain is read. @throws a refusal with the reason
 */
export async function controlledWallet(
  request: RegistrationRequest,
  { clock, wallets, principal }: Pick<SessionContext, 'clock' | 'wallets' | 'principal'>,
  look: (wallet: Address) => Promise<void>,
): Promise<{ readonly wallet: Address } & RegistrationText> {
  const control = await proveControl(request, clock.now_ms(), { wallets, asker: principal.address, look });
  switch (control.kind) {
    case 'proven': {
      const { kind: _, ...proven } = control;
      return proven;
    }
    case 'invalid_wallet':
      throw new Refusal('invalid_wallet', { param: 'agentWallet' });
    case 'missing':
      throw new Refusal('control_proof_missing', {
        param: request.wallet_signature === null ? 'wallet_signature' : 'signature_timestamp',
      });
    case 'stale':
      throw new Refusal('control_proof_invalid', { param: 'signature_timestamp' });
    case 'foreign_signature':
      throw new Refusal('control_proof_invalid', { param: 'wallet_signature' });
    case 'no_turn':
      throw new Refusal('unavailable', { facts: { charged: false } });
    case 'unreachable':
      throw new Refusal('chain_unavailable', { facts: { charged: false } });
  }
}

/** Only the paying wallet can become agentWallet (specification: "a different `authorization.from` is rejected before settle"). */
export function requirePayer(wallet: Address, payer: Payer): void {
  if (payer.network !== 'base' || payer.wallet.toLowerCase() !== wallet.toLowerCase()) {
    throw new Refusal('payer_mismatch', { param: 'agentWallet' });
  }
}
