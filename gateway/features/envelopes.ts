import { envelopesAddition } from '../../subgraphs/receipt/envelope/addition.ts';
import type { Feature } from './feature.ts';

/**
 * Serves receipts in forms that other software verifies: a SCITT transparent statement (COSE), and a W3C Verifiable Credential.
 */
export const envelopesFeature: Feature = {
  name: 'envelopes',
  adds: { receipt: envelopesAddition },
};
