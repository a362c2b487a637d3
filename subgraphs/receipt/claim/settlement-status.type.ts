import 'reflect-metadata';
import { SettlementNoun } from '../../../schema/settlement.ts';
import { objectType } from '../../graph-type.ts';

/** State of a payment for the client that sent it, without request, answer or book. */
export const SettlementReport = objectType(
  'Settlement',
  'State of a payment, for the client that sent it.',
  SettlementNoun,
);
export type SettlementReport = InstanceType<typeof SettlementReport>;
