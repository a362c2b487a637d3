import { z } from 'zod';

/* What is asked of the log of receipts, its proofs, and the totals signed behind it. */

const Size = z
  .int()
  .min(1)
  .max(2 ** 31 - 1);

const TaskId = z.string().max(64).describe('Task id of a receipt.');

export const CheckpointRequest = z.strictObject({
  tree_size: Size.optional().describe('Size of a tree whose head was signed. Default: the newest.'),
});

const TilePath = z
  .string()
  .max(32)
  .describe(
    'Index of the tile in groups of three digits, all but the last after an x; of a partial tile also `.p/` and its width: `000`, `x001/067`, `000.p/12`.',
  );

/** Which tile of hashes, in a path. */
export const TileAddress = z.object({
  level: z.string().max(2).describe('Level of the tile, from 0 (the leaves) to 63.'),
  path: TilePath,
});

/** Which bundle of entries, in a path. */
export const BundleAddress = z.object({ path: TilePath });

/** Which receipt, in a path. */
export const LeafPath = z.object({ task_id: TaskId });

export const InclusionRequest = z.strictObject({
  task_id: TaskId,
  tree_size: Size.optional().describe('Size of the tree that the proof is for. Default: that of the newest head.'),
});

export const ConsistencyRequest = z.strictObject({
  from: Size.describe('Size of the smaller tree.'),
  to: Size.describe('Size of the larger tree.'),
});

/** Of which row the total of a book is proven. */
export const BookTotalRequest = z.strictObject({
  task_id: z
    .string()
    .min(1)
    .max(64)
    .optional()
    .describe('Task id of a row: the answer then proves that it is in the total. Default: none.'),
});
