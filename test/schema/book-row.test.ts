import { expect, it } from 'vitest';
import { hashedColumns, hashedFacts, laterColumns, movableColumns, rowColumns } from '../../schema/book-row.ts';

it('what a row is hashed over is what it was hashed over since the first one: nothing may be added or left out', () => {
  expect(hashedColumns.toSorted()).toEqual([
    'agent_id',
    'amount',
    'arrival_status',
    'attempt_index',
    'collected',
    'collected_at',
    'evidence',
    'facts',
    'fulfillment',
    'hub',
    'intent_id',
    'model',
    'parent_ref',
    'payer_wallet',
    'payment_ref',
    'prev_row_hash',
    'rail',
    'recorded_by',
    'seq',
    'settled_by',
    'task_id',
    'transfer_index',
  ]);
  expect(hashedFacts({ amount: null, hub: 'north' })).toEqual({ amount: null, hub: 'north' });
});

it('a column that came later is hashed only where it is set', () => {
  expect(hashedFacts({ amount: null, coupon: null }, ['coupon'])).toEqual({ amount: null });
  expect(hashedFacts({ amount: null, coupon: 'ten' }, ['coupon'])).toEqual({ amount: null, coupon: 'ten' });
});

it('an arrival may change these columns, and no other', () => {
  expect(movableColumns.toSorted()).toEqual([
    'amount',
    'arrival_status',
    'collected',
    'evidence',
    'payment_ref',
    'transfer_index',
  ]);
  expect(laterColumns.toSorted()).toEqual(['ingress_receipt', 'omission_rule']);
  expect(rowColumns).toHaveLength(hashedColumns.length + laterColumns.length + 2);
});
