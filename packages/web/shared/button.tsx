import type { ComponentProps, ReactNode } from "react";
import { Icon, type IconName } from "./icon.tsx";

const looks = {
  primary: "bg-accent text-on-accent hover:bg-accent-deep",
  plain: "border border-line bg-surface text-ink hover:border-edge",
  danger: "border border-line bg-surface text-danger hover:border-danger",
  quiet: "text-muted hover:bg-sunken hover:text-ink",
} as const;

const sizes = {
  large: "h-14 gap-2.5 rounded-full px-8 text-base font-semibold",
  medium: "h-11 gap-2 rounded-full px-5 font-medium",
  small: "h-9 gap-1.5 rounded-lg px-3 text-sm font-medium",
} as const;

interface ButtonProps extends ComponentProps<"button"> {
  look?: keyof typeof looks;
  size?: keyof typeof sizes;
  icon?: IconName;
  children: ReactNode;
}

/** How a button looks, for a link that looks like one. */
export function buttonLook(options: { look: keyof typeof looks; size: keyof typeof sizes }): string {
  return `inline-flex items-center justify-center whitespace-nowrap transition-colors disabled:opacity-50 ${looks[options.look]} ${sizes[options.size]}`;
}

export function Button(props: ButtonProps) {
  const { look = "plain", size = "medium", icon, children, className = "", ...rest } = props;
  return (
    <button type="button" className={`${buttonLook({ look, size })} ${className}`} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

interface IconButtonProps extends ComponentProps<"button"> {
  icon: IconName;
  label: string;
}

/** A button without words; its label is read out and shown on hover. */
export function IconButton({ icon, label, className = "", ...rest }: IconButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      className={`inline-flex size-10 items-center justify-center rounded-lg text-muted transition-colors hover:bg-sunken hover:text-ink aria-pressed:bg-sunken aria-pressed:text-ink disabled:opacity-50 ${className}`}
      {...rest}
    >
      <Icon name={icon} />
    </button>
  );
}
