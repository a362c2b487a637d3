import { Entity, PrimaryKey, Property } from '@mikro-orm/decorators/legacy';
import type { Evidence } from '../../../schema/evidence.ts';

/** How many rows of one book were collected on one day (UTC) and rest on the same: see days.ts. */
@Entity({ tableName: 'book_day' })
export class BookDay {
  @PrimaryKey({ type: 'integer', autoincrement: false })
  agentId!: number;
  @PrimaryKey({ type: 'date' })
  day!: string;
  @PrimaryKey({ type: 'text' })
  evidence!: Evidence;
  @Property({ type: 'integer' })
  rows!: number;
}
