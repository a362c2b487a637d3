import { z } from 'zod';
import type { Hex } from './abi.ts';

/** What a Base node answers, as far as it is read here. A node is not trusted: what has another shape is no answer. */
export const hexData = z
  .string()
  .regex(/^0x[0-9a-fA-F]*$/)
  .transform(value => value.toLowerCase() as Hex);
export const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(value => BigInt(value));
export const count = quantity.refine(value => value <= Number.MAX_SAFE_INTEGER).transform(Number);

export const logShape = z
  .object({
    address: hexData,
    topics: z.array(hexData),
    data: hexData,
    logIndex: count,
    transactionHash: hexData,
    blockNumber: count,
  })
  .transform(({ address, topics, data, logIndex, transactionHash, blockNumber }) => ({
    address,
    topics,
    data,
    log_index: logIndex,
    tx_hash: transactionHash,
    block_number: blockNumber,
  }));
export type ChainLog = Readonly<z.infer<typeof logShape>>;

export const receiptShape = z
  .object({
    transactionHash: hexData,
    to: hexData.nullable().default(null),
    blockNumber: count,
    blockHash: hexData,
    status: z.enum(['0x0', '0x1']),
    gasUsed: count,
    effectiveGasPrice: quantity.nullish(),
    /** On an OP-stack chain: for the transaction's data, beside its gas. */
    l1Fee: quantity.nullish(),
    logs: z.array(logShape),
  })
  .transform(({ transactionHash, to, blockNumber, blockHash, status, gasUsed, effectiveGasPrice, l1Fee, logs }) => ({
    tx_hash: transactionHash,
    to,
    block_number: blockNumber,
    block_hash: blockHash,
    succeeded: status === '0x1',
    gas_used: gasUsed,
    /** Null where the node does not say by what price. */
    fee_wei: effectiveGasPrice == null ? null : BigInt(gasUsed) * effectiveGasPrice + (l1Fee ?? 0n),
    logs,
  }));
export type ChainReceipt = Readonly<z.infer<typeof receiptShape>>;

export const blockShape = z
  .object({
    number: count,
    hash: hexData,
    timestamp: count,
    baseFeePerGas: quantity,
    stateRoot: hexData.optional(),
  })
  .transform(({ number, hash, timestamp, baseFeePerGas, stateRoot }) => ({
    number,
    hash,
    timestamp_seconds: timestamp,
    base_fee_wei: baseFeePerGas,
    ...(stateRoot === undefined ? {} : { state_root: stateRoot }),
  }));
export type ChainBlock = Readonly<z.infer<typeof blockShape>>;
