import { Entity, PrimaryKey, Property } from '../../table.ts';
import type { MarkName } from './same-service.ts';

/**
 * Facts that all processes of this database share. A secret is stored as an HMAC, which reveals nothing about it and is not a plain hash of
 * it. Public facts are stored in plain text, so that an error can name them.
 */
@Entity({ tableName: 'service_mark' })
export class ServiceMark {
  @PrimaryKey({ type: 'text' })
  name!: MarkName;
  @Property({ type: 'text' })
  mark!: string;
}
